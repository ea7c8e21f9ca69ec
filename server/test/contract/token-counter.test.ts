import { after } from 'node:test'
import { WorkerTokenCounter } from '#runtime/tokenizer.ts'
import { tokenCounterSuite } from './token-counter.ts'

const counter = new WorkerTokenCounter()
after(() => counter.close())
tokenCounterSuite('worker', counter)
