#!/usr/bin/env node
// @ts-check
import { buildline } from './commands.js'

process.exitCode = await buildline(process)
