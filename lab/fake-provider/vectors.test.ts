import assert from 'node:assert/strict'
import { it } from 'node:test'
import { base64Of, numberText, vectorOf } from './vectors.ts'

it('vectors keep their values from release to release, or recorded runs lose their meaning', () => {
  assert.equal(numberText(vectorOf('a', 4)), '[0.49474734,0.16415167,0.8512424,-0.060544353]')
  assert.equal(base64Of(vectorOf('Käse 🧀', 8)), 'Zn5kPpDL573Zw82+X1TvvouY+Tsscw0/H1CPvm1g1b4=')
})

it('NaN and infinities are written as broken servers write them', () => {
  const vector = new Float32Array([Number.NaN, Infinity, -Infinity, -0, 0])
  assert.equal(numberText(vector), '[NaN,1e999,-1e999,-0,0]')
})
