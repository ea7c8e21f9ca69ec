import { memoryJobs, postgresJobs } from './image-jobs-open.ts'
import { webhookOutboxSuite } from './webhooks.ts'

webhookOutboxSuite('memory', memoryJobs)
webhookOutboxSuite('PostgreSQL', postgresJobs())
