import { postgresStores } from '#test/support/ledger-stores.ts'
import { finderSuite } from './finder.ts'

finderSuite('PostgreSQL', postgresStores())
