# The image contains no secret and needs none to build. docs/deploy.md describes how to run it.
FROM node:24-bookworm-slim
WORKDIR /app
COPY package.json package-lock.json ./
# The optional packages are the Node runtime, which this image already has.
RUN npm ci --omit=dev --omit=optional --ignore-scripts && npm cache clean --force
COPY bin bin
# The pages below /docs are made of these files.
COPY docs/examples docs/examples
COPY docs/guides docs/guides
COPY migrations migrations
COPY sandbox sandbox
COPY src src
# Private from the start, because the service removes the permissions of others with a warning.
RUN install -d -o node -g node -m 0700 /data node_modules/.cache/parallax
USER node
# Stores the compile cache in the image, because a container may not be able to write the folder. Node uses it only for the
# same user.
RUN node --max-semi-space-size=8 --heap-growing-percent=50 bin/parallax.mjs openapi > /dev/null
# As in `npm start`: glibc returns freed memory to the system.
ENV MALLOC_ARENA_MAX=2 MALLOC_TRIM_THRESHOLD_=131072
ENV PARALLAX_HOST=0.0.0.0 PARALLAX_PORT=8787 PARALLAX_DATA_DIR=/data
VOLUME /data
EXPOSE 8787
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PARALLAX_PORT}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=8", "--heap-growing-percent=50", "bin/parallax.mjs", "serve"]
