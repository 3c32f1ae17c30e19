SELECT database, name, toString(uuid), create_table_query
FROM system.tables
WHERE has({databases:Array(String)}, database) AND endsWith(engine, 'MergeTree')
ORDER BY database, name
