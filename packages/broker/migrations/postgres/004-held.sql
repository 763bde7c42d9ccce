-- What a queue held at a version, so that looking at all queues loads none: a JSON array that begins with the version.

ALTER TABLE {schema}.owner ADD COLUMN held text;
