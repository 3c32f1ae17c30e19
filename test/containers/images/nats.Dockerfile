FROM scratch
COPY busybox /bin/busybox
RUN ["/bin/busybox", "--install", "-s", "/bin"]
COPY nats-server /usr/local/bin/nats-server
RUN ["/bin/mkdir", "-m", "1777", "/tmp"]
EXPOSE 4222 8222 6222
ENTRYPOINT ["/usr/local/bin/nats-server"]
CMD ["--jetstream"]
