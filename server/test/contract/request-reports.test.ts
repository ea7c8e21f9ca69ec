import { postgresStores } from '#test/support/ledger-stores.ts'
import { requestReportsSuite } from './request-reports.ts'

requestReportsSuite('PostgreSQL', postgresStores())
