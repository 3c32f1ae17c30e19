FROM debian:bookworm-slim
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends ca-certificates npm && rm -rf /var/lib/apt/lists/*
