SELECT version, name, sha256
FROM schema_migrations FINAL
WHERE version > 0
ORDER BY version, sha256
