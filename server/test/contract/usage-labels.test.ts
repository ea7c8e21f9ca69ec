import { postgresStores } from '#test/support/ledger-stores.ts'
import { usageLabelsSuite } from './usage-labels.ts'

usageLabelsSuite('PostgreSQL', postgresStores())
