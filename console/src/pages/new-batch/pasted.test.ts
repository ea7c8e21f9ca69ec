import { test } from 'node:test'
import assert from 'node:assert/strict'
import { fileOfText, formOf, type PastedForm } from './pasted.ts'

const FORMS: readonly (readonly [text: string, form: PastedForm])[] = [
  ['{"text": "a cat"}\n{"text": "a dog"}', 'jsonl'],
  ['id,text\n1,a cat', 'csv'],
  ['sku;description\nA-1;a red chair', 'csv'],
  ['id\ttext\n1\ta cat', 'csv'],
  ['text\na cat', 'csv'],
  ['a cat\na dog', 'lines'],
  ['Hello, world\nGood morning', 'lines'],
  ['Yes, you can cancel.\nNo, we don’t.', 'lines'],
  ['[1, 2]\n[3]', 'lines'],
  ['', 'lines'],
]

for (const [text, form] of FORMS)
  test(`${JSON.stringify(text)} is ${form}`, () => assert.equal(formOf(text), form))

test('lines become a column of texts, with quotes kept', async () => {
  const file = fileOfText('say "hi", you\n\nbye\r\n', 'lines', 'pasted')
  assert.equal(file.name, 'pasted.csv')
  assert.equal(await file.text(), 'text\n"say ""hi"", you"\n"bye"')
})

test('rows are uploaded as they were pasted', async () => {
  const jsonl = fileOfText('{"text":"a"}\n', 'jsonl', 'pasted')
  assert.deepEqual([jsonl.name, await jsonl.text()], ['pasted.jsonl', '{"text":"a"}\n'])
  assert.equal(await fileOfText('id,text\n1,a', 'csv', 'pasted').text(), 'id,text\n1,a')
})
