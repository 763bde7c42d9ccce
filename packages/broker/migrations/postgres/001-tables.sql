-- An owner is a queue or a topic in one life of its name; number 0 is the catalog, the settings of all of them.
-- Every key begins with the owner's number. Times are milliseconds since 1970.

CREATE TABLE {schema}.owner (
  number bigint PRIMARY KEY,
  name text NOT NULL,
  -- How many rows its journal has had, and the id of the batch that wrote the last one.
  version bigint NOT NULL,
  tail bigint NOT NULL,
  time bigint NOT NULL,
  -- When something of it falls due; may be early, never late.
  due_at bigint,
  -- Until when a receiver waits at some node.
  waiting_until bigint NOT NULL DEFAULT 0,
  is_gone boolean NOT NULL DEFAULT false
) WITH (fillfactor = 20);

-- What one batch changed in one owner, and beside it what senders wrote, with ids from first_id to last_id.
CREATE TABLE {schema}.journal (
  number bigint,
  version bigint,
  id bigint NOT NULL,
  first_id bigint,
  last_id bigint,
  changes bytea NOT NULL,
  contents bytea NOT NULL,
  PRIMARY KEY (number, version)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

ALTER TABLE {schema}.journal ALTER changes SET STORAGE EXTERNAL, ALTER contents SET STORAGE EXTERNAL;

-- What is left of rows that have left the journal.
CREATE TABLE {schema}.record (
  number bigint,
  key bytea,
  value bytea NOT NULL,
  PRIMARY KEY (number, key)
);

ALTER TABLE {schema}.record ALTER value SET STORAGE EXTERNAL;

-- Up to which version rows have become records; the rows up to trim_to leave the journal later than trim_at.
CREATE TABLE {schema}.checkpoint (
  number bigint PRIMARY KEY,
  version bigint NOT NULL,
  trim_to bigint NOT NULL,
  trim_at bigint NOT NULL
);

-- The format, and a virtual or manual clock.
CREATE TABLE {schema}.store (
  key text PRIMARY KEY,
  value text NOT NULL
);

INSERT INTO {schema}.owner (number, name, version, tail, time) VALUES (0, '*', 0, 0, 0);
