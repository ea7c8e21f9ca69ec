#!/usr/bin/env node
/** `torana-import-litellm <config.yaml>`: a program of its own, which the server does not know. */
import { run } from './command.ts'

process.exitCode = run(process.argv.slice(2), process)
