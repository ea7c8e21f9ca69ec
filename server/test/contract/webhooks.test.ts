import { memoryJobs, pgliteJobs, postgresJobs } from './image-jobs-open.ts'
import { webhookOutboxSuite } from './webhooks.ts'

webhookOutboxSuite('memory', memoryJobs)
webhookOutboxSuite('PGlite', pgliteJobs())
webhookOutboxSuite('PostgreSQL', postgresJobs())
