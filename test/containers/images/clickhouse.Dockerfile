FROM debian:bookworm-slim
COPY busybox /usr/local/bin/wget
COPY libchdb.so errata-engine /usr/lib/clickhouse/
COPY config.xml users.xml /etc/clickhouse-server/
COPY entrypoint.sh /
RUN mkdir /etc/clickhouse-server/config.d /etc/clickhouse-server/users.d
VOLUME /var/lib/clickhouse
EXPOSE 9000 8123
ENTRYPOINT ["/bin/sh", "/entrypoint.sh"]
