FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY . .
RUN npm run build

FROM node:24-bookworm-slim
WORKDIR /app
COPY --from=build /app /app
# The last as in scripts/run.mjs, which says why.
ENV HOST=0.0.0.0 PORT=3000 DATA_DIR=/data LOG_FORMAT=json NODE_OPTIONS=--max-semi-space-size=4
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s CMD ["node", "-e", "fetch('http://127.0.0.1:3000/readyz').then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Node itself, not npm: npm does not pass signals on.
CMD ["node", "apps/server/src/main.ts", "start"]
