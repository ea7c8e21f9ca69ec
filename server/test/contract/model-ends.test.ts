import { postgresStores } from '#test/support/ledger-stores.ts'
import { modelEndsSuite } from './model-ends.ts'

modelEndsSuite('PostgreSQL', postgresStores())
