-- The servers that use these tables. Each renews its row every few seconds, and removes it when it stops.

CREATE TABLE {schema}.node (
  id text PRIMARY KEY,
  started_at bigint NOT NULL,
  -- By the database's clock.
  seen_at bigint NOT NULL,
  -- The latest format of journal rows that it reads; nobody writes a later one while it lives.
  reads int NOT NULL,
  version text NOT NULL,
  -- Where other servers reach it.
  address text
);
