/**
 * The texts by which models are admitted to a family. Like those of probes they never change: a changed letter would look like a
 * changed model. Ten subjects with four texts each, so that every text has near and far neighbours whose order can be compared;
 * eight unrelated texts have no such order. Each has fewer tokens than the shortest limit of any known model, 128.
 */
export const FAMILY_TEXTS: readonly string[] = [
  'The bread needs another ten minutes in the oven.',
  'Knead the dough until it is smooth, then let it rise in a warm place.',
  'She baked a plum cake for her neighbour on Sunday morning.',
  'Which flour is best for a sourdough loaf?',

  'The night train to the coast leaves at a quarter past nine.',
  'Our flight was delayed for three hours because of fog.',
  'How do I change the seat that I reserved on a train?',
  'Passengers must carry a valid passport when they cross the border.',

  'The patient was given antibiotics for an infection of the lung.',
  'A balanced diet and regular exercise lower the risk of heart disease.',
  'What are the side effects of this vaccine?',
  'The surgeon repaired the torn ligament of the knee.',

  'The central bank raised interest rates by a quarter of a percent.',
  'Shares of the carmaker fell after it lowered its forecast of profits.',
  'How much tax do I pay on the interest of my savings account?',
  'The invoice is due within thirty days without deduction.',

  'Heavy rain flooded the streets of the old town overnight.',
  'A cold front will bring snow to the mountains on Friday.',
  'The driest summer in a century left the reservoirs half empty.',
  'Will it be windy enough to sail tomorrow afternoon?',

  'The database refuses connections while it restores a backup.',
  'Restart the server after you have changed its configuration.',
  'Why does my program run out of memory when it reads a large file?',
  'The update closes a security hole in the encryption library.',

  'The home team scored twice in the last five minutes of the match.',
  'She won the marathon in just under two hours and twenty minutes.',
  'The goalkeeper was sent off for a foul outside the box.',
  'What are the rules of a tie break in tennis?',

  'The judge dismissed the claim because it was filed too late.',
  'Tenants may end the contract with three months of notice.',
  'The witness identified the man who had broken into the shop.',
  'Can my employer read my private messages?',

  'const total = prices.reduce((sum, price) => sum + price, 0)',
  'SELECT name, count(*) FROM orders GROUP BY name ORDER BY 2 DESC',
  'def area(radius): return math.pi * radius ** 2',
  'for (int i = 0; i < n; i++) { sum += values[i]; }',

  'Die Bibliothek ist am Montag geschlossen.',
  'La bibliothèque est fermée le lundi.',
  'La biblioteca está cerrada los lunes.',
  'その図書館は月曜日に休みです。',
]
