-- No limit for the size of the dropped table: its rows are in records too.
DROP TABLE IF EXISTS {{.Copy}} SYNC SETTINGS max_table_size_to_drop = 0
