import { postgresStores } from '#test/support/ledger-stores.ts'
import { capturesSuite } from './captures.ts'

capturesSuite('PostgreSQL', postgresStores())
