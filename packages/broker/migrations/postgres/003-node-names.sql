-- What people call a server: its machine and port.

ALTER TABLE {schema}.node ADD COLUMN name text;
