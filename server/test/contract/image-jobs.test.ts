import { imageJobsSuite } from './image-jobs.ts'
import { memoryJobs, postgresJobs } from './image-jobs-open.ts'
import { concurrentImageJobsSuite, sqlImageJobsSuite } from './image-jobs-sql.ts'

const postgres = postgresJobs()

imageJobsSuite('memory', memoryJobs)
imageJobsSuite('PostgreSQL', postgres)
sqlImageJobsSuite('PostgreSQL', postgres)
concurrentImageJobsSuite('PostgreSQL', postgres)
