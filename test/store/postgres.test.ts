import { afterAll, beforeAll, describe, test } from 'vitest'
import { startPostgres } from '../support/postgres.ts'
import { postgresPlaces, type Places } from '../support/stores.ts'
import { closingClaims } from './claims/closing.ts'
import { isolationClaims } from './claims/isolation.ts'
import { sharingClaims } from './claims/sharing.ts'
import { migrationClaims } from './claims/migration.ts'
import { upgradeClaims } from './claims/upgrade.ts'
import { conformance } from './conformance.ts'

const server = await startPostgres()

if ('impossible' in server) {
  console.warn(`\nNOT TESTED: the store in PostgreSQL. ${server.impossible}\n`)
  test.skip(`the store in PostgreSQL is NOT TESTED here: ${server.impossible}`)
} else {
  describe('the store in PostgreSQL', () => {
    let places: Places
    beforeAll(async () => {
      places = await postgresPlaces(server)
    })
    afterAll(() => server[Symbol.asyncDispose]())

    conformance(() => places)
    describe('migration', () => migrationClaims(() => places))
    describe('upgrade', () => upgradeClaims(() => places))
    describe('isolation', () => isolationClaims(() => places))
    describe('closing', () => closingClaims(() => places))
    describe('sharing', () => sharingClaims(() => places))
  })
}
