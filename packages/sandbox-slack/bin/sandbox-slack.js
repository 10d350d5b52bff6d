#!/usr/bin/env node
import { existsSync } from 'node:fs'

// An installed package has plain JavaScript in dist/. In the repository, Node runs the TypeScript directly.
const packed = new URL('../dist/cli.js', import.meta.url)
await import(existsSync(packed) ? packed.href : new URL('../src/cli.ts', import.meta.url).href)
