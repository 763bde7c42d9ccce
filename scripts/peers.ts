// Fetches the peers for `npm run bench -- http` that are not on npm into the folder .peers: moto with pip,
// ElasticMQ and its dependencies with Maven. `npm run bench:peers` runs it; no test and no benchmark does.
//
// pip and mvn know from their own configuration where packages come from. Every step has a timeout and may
// fail; the run then says why and goes on, and the benchmark leaves that peer out.

import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type PeerName, peers } from '../bench/servers/peers.ts';
import { type Run, run } from './run-command.ts';

const fetchMsMax = 600_000;

const fetches: Readonly<Record<PeerName, (folder: string, version: string) => Promise<Run>>> = {
  moto: fetchMoto,
  elasticmq: fetchElasticMq,
};

for (const name of Object.keys(fetches) as PeerName[]) {
  const { folder, version } = peers[name];
  // The stamp names the version, so that a new version is fetched, and a partial download is not used.
  const stamp = join(folder, `.fetched-${version}`);
  if (existsSync(stamp)) {
    console.log(`${name} ${version}: present`);
    continue;
  }
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { ok, complaint } = await fetches[name](folder, version);
  if (ok) writeFileSync(stamp, '');
  else rmSync(folder, { recursive: true, force: true });
  console.log(`${name} ${version}: ${ok ? 'fetched' : `could not be fetched: ${complaint}`}`);
}

function fetchMoto(folder: string, version: string): Promise<Run> {
  const options = ['--quiet', '--disable-pip-version-check', '--no-input', '--target', folder];
  const pip = ['python3', '-m', 'pip', 'install', ...options, `moto[server]==${version}`];
  return run(pip, {}, fetchMsMax);
}

/** Maven can copy the dependencies of a project, so this writes a project whose only dependency is ElasticMQ. */
function fetchElasticMq(folder: string, version: string): Promise<Run> {
  const project = join(folder, 'pom.xml');
  writeFileSync(
    project,
    `<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>oncemq</groupId><artifactId>bench-peers</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies><dependency>
    <groupId>org.elasticmq</groupId><artifactId>elasticmq-server_2.13</artifactId><version>${version}</version>
  </dependency></dependencies>
</project>
`,
  );
  const copy = ['dependency:copy-dependencies', `-DoutputDirectory=${folder}`];
  return run(['mvn', '--quiet', '--batch-mode', '--file', project, ...copy], {}, fetchMsMax);
}
