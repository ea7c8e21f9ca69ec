import { postgresBooks } from '#test/support/books.ts'
import { auditReceiversSuite } from './audit-receivers.ts'

auditReceiversSuite('PostgreSQL', postgresBooks())
