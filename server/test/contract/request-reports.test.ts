import { postgresBooks } from '#test/support/books.ts'
import { requestReportsSuite } from './request-reports.ts'

requestReportsSuite('PostgreSQL', postgresBooks())
