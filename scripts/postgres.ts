// A PostgreSQL for tests: runs a new, empty cluster on a free port until standard input ends, and then removes it.
//
//   postgres.js            prints "postgres ready URL" and waits
//   postgres.js --durable  the same, and its commits wait for the disk
//   ... NAME=VALUE         with these settings

import { Cluster, freePort, stopWithInput } from './postgres-cluster.ts';

// A test's database need not survive a crash of the machine.
const careless = ['fsync=off', 'full_page_writes=off'];
const given = process.argv.slice(2).filter((arg) => arg.includes('='));
const settings = process.argv.includes('--durable') ? [] : careless;
const cluster = new Cluster('data', await freePort(), [...settings, ...given]);
cluster.make();
await cluster.start();
stopWithInput(() => cluster.stop());
console.log(`postgres ready ${cluster.url}`);
