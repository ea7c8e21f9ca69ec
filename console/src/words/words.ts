/** Every text of the console: `words.keys.form.title`. The build puts the words of a page beside its code. */
export * as words from './en.ts'
