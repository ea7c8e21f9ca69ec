/** JSON that is nested too deep, or holds too many values or files. The message repeats nothing of the body: a caller may read it. */
export class JsonRefused extends SyntaxError {
  override readonly name: string = 'JsonRefused'
}

/** JSON with more text than its kind of request may have. */
export class JsonTooLong extends JsonRefused {
  override readonly name = 'JsonTooLong'
}
