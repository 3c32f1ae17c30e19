# The part of the entry point of clickhouse/clickhouse-server that the tests and
# docker-compose.yml use: CLICKHOUSE_DB, CLICKHOUSE_USER and CLICKHOUSE_PASSWORD.
set -eu
etc=/etc/clickhouse-server
data=/var/lib/clickhouse
cat >"$etc/users.d/default-user.xml" <<END
<clickhouse><users><${CLICKHOUSE_USER}>
    <profile>default</profile>
    <networks><ip>::/0</ip></networks>
    <password><![CDATA[${CLICKHOUSE_PASSWORD}]]></password>
    <quota>default</quota>
</${CLICKHOUSE_USER}></users></clickhouse>
END

# The end of this pipe is the end of the server. A container that is started again still
# has it.
[ -p /run/life ] || mkfifo /run/life
/usr/lib/clickhouse/errata-engine /usr/lib/clickhouse/libchdb.so "$data" "$etc" --config-file="$etc/config.xml" --query="
	CREATE DATABASE IF NOT EXISTS \`${CLICKHOUSE_DB:-default}\`;
	SYSTEM START LISTEN TCP;
	SYSTEM START LISTEN HTTP;
	SELECT count() FROM file(stdin, LineAsString)" </run/life &
server=$!
exec 3>/run/life
trap 'exec 3>&-' TERM INT
# A signal ends the first wait, and the end of the server the second one.
wait $server || true
wait $server
