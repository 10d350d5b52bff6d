# Buildline in an image: Debian with its own Node, no development parts, a user without rights.
FROM node:26-trixie-slim AS parts
WORKDIR /app
COPY package.json package-lock.json ./
COPY packages/build-steps/package.json ./packages/build-steps/package.json
RUN npm ci --omit=dev && npm cache clean --force
COPY bundle.ts ./
COPY src ./src
COPY packages ./packages
# The optional packages are what makes the bundles, and a Node: the image brings its own.
RUN node bundle.ts && npm run prepack --workspace packages/build-steps && npm prune --omit=dev --omit=optional

FROM node:26-trixie-slim
# PID 1 passes SIGTERM on and reaps; node is its child.
RUN apt-get update \
 && apt-get install -y --no-install-recommends tini ca-certificates \
 && rm -rf /var/lib/apt/lists/*
ENV NODE_ENV=production PORT=3000
WORKDIR /app
COPY --from=parts /app/node_modules ./node_modules
COPY --from=parts /app/dist ./dist
COPY package.json manifest.yml ./
COPY src ./src
COPY packages/build-steps/package.json ./packages/build-steps/package.json
COPY --from=parts /app/packages/build-steps/dist ./packages/build-steps/dist
RUN mkdir data && chown node:node data \
 && ln -s /app/packages/build-steps/dist/buildline.js /usr/local/bin/buildline \
 && ln -s /app/packages/build-steps/dist/service-restart-build.js /usr/local/bin/service_restart_build
USER node
VOLUME /app/data
EXPOSE 3000
HEALTHCHECK --interval=15s --timeout=3s --start-period=10s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["tini", "--"]
CMD ["node", "--max-semi-space-size=4", "--v8-pool-size=1", "dist/main.js"]
