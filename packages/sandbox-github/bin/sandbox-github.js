#!/usr/bin/env node
import { existsSync } from 'node:fs'

// A packed copy holds plain JavaScript in dist/; in the repository Node runs the TypeScript as it is.
const packed = new URL('../dist/cli.js', import.meta.url)
await import(existsSync(packed) ? packed.href : new URL('../src/cli.ts', import.meta.url).href)
