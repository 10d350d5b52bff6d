#!/usr/bin/env node
// @ts-check
import { serviceRestartBuild } from './restart/program.js'

process.exitCode = await serviceRestartBuild(process)
