import { postgresJobs } from './image-jobs-open.ts'
import { webhookOutboxSuite } from './webhooks.ts'

webhookOutboxSuite('PostgreSQL', postgresJobs())
