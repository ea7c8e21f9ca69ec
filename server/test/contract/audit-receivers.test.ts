import { postgresStores } from '#test/support/ledger-stores.ts'
import { auditReceiversSuite } from './audit-receivers.ts'

auditReceiversSuite('PostgreSQL', postgresStores())
