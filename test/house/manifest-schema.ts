import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { ROOT } from './imports.ts'
import { readManifest } from './manifest.ts'

// Validates manifest.yml with Slack's own schema, which is not part of this repository.

const SCHEMA = join(ROOT, '../shared/data/slack-manifest.schema.2.json')

if (existsSync(SCHEMA)) check(JSON.parse(readFileSync(SCHEMA, 'utf8')) as object)
else console.log('manifest.yml: NOT CHECKED against Slack’s schema, which is not here')

function check(schema: object): void {
  // Slack's schema has keywords of its own, such as `_note`.
  const ajv = new Ajv({ strict: false, allErrors: true, formats: { uri: true } })
  if (ajv.validate(schema, readManifest())) return console.log('manifest.yml: valid by Slack’s schema')
  console.log('manifest.yml: NOT valid by Slack’s schema')
  for (const { instancePath, message } of ajv.errors ?? []) console.log(`  ${instancePath || '/'} ${message ?? ''}`)
  process.exitCode = 1
}
