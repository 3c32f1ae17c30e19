SELECT count()
FROM system.mutations
WHERE has({databases:Array(String)}, database) AND NOT is_done
