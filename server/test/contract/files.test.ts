import { fileUploadsSuite } from './file-uploads.ts'
import { memoryFiles, postgresFiles } from './files-open.ts'
import { filesSuite } from './files.ts'

filesSuite('memory', memoryFiles)
fileUploadsSuite('memory', memoryFiles)

const postgres = postgresFiles()
filesSuite('PostgreSQL', postgres)
fileUploadsSuite('PostgreSQL', postgres)
