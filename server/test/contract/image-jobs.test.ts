import { imageJobsSuite } from './image-jobs.ts'
import { postgresJobs } from './image-jobs-open.ts'
import { concurrentImageJobsSuite, sqlImageJobsSuite } from './image-jobs-sql.ts'

const postgres = postgresJobs()

imageJobsSuite('PostgreSQL', postgres)
sqlImageJobsSuite('PostgreSQL', postgres)
concurrentImageJobsSuite('PostgreSQL', postgres)
