import { pgliteBooks, postgresBooks } from '#test/support/books.ts'
import { requestReportsSuite } from './request-reports.ts'

requestReportsSuite('PostgreSQL', postgresBooks())
requestReportsSuite('PGlite', pgliteBooks())
