/** Whether tests try everything that they can, as at night, or the part of it that every change needs. */
export const IS_LONG: boolean = process.env['TORANA_TEST_LONG'] !== undefined
