import assert from 'node:assert/strict'
import { test } from 'node:test'
import { svgStart } from './svg-start.ts'

const of = (text: string) => svgStart(Buffer.from(text, 'latin1'))

test('a text stays open until it is known whether it is an SVG, and then never changes', () => {
  for (const [start, outcome] of [
    ['<svg>', 'svg'],
    ['\xef\xbb\xbf<svg ', 'svg'],
    [' \n<?xml version="1.0"?>\n<!-- <a> -->\n<!DOCTYPE svg PUBLIC "x">\n<svg/', 'svg'],
    ['<svgx', 'other'],
    ['<!DOCTYPE html><h', 'other'],
    ['<!-- a --> b', 'other'],
    ['\xef\xbbx', 'other'],
    [`<!--${' '.repeat(1020)}`, 'other'],
  ] as const) {
    for (let length = 0; length < start.length; length += 1)
      assert.equal(of(start.slice(0, length)), 'open', `${start} cut at ${length}`)
    assert.equal(of(start), outcome)
    assert.equal(of(`${start}--><svg>`), outcome)
  }
})
