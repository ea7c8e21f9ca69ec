/** Sets of texts to begin with. They are data, so they are not translated. */

export const SAMPLES = ['tickets', 'cities', 'colours', 'code'] as const
export type Sample = (typeof SAMPLES)[number]

export const SAMPLE_TEXTS: Record<Sample, string> = {
  tickets: `#billing
I was charged twice this month
Can I get an invoice with our VAT number?
My credit card was declined at checkout
Please refund the second payment
Where do I change the billing address?
The price on the invoice is higher than agreed
How do I switch to annual payment?
#delivery
Where is my parcel?
The courier left the package in the rain
Tracking has not moved for five days
Can you ship to Norway?
My order arrived at the wrong address
How long does express delivery take?
The delivery was late again
#account
I cannot sign in to my account
Reset my password please
The verification code never arrives
How do I delete my account?
Change the e-mail address of my login
My account was locked after three attempts
Turn off two-factor authentication
#returns
How do I return shoes that do not fit?
The return label does not print
I want to exchange this jacket for a larger size
How many days do I have to send it back?
Can I return a gift without a receipt?
The shirt shrank in the wash, I want my money back
#product
Is the sweater made of merino wool?
Do these boots come in black?
Which size should I order for wide feet?
Is the backpack waterproof?
Does this coat have a hood?
The zip of the jacket broke after a week`,
  cities: `#Europe
Lisbon lies on seven hills above the Tagus
Berlin has more bridges than Venice
The trams of Vienna run around the Ring
Copenhagen is a city of bicycles
Naples lives at the foot of a volcano
#Asia
Tokyo has the busiest crossing in the world
Kyoto keeps a thousand temples
Singapore grows gardens on its towers
Hanoi drinks its coffee with egg
Istanbul stands on two continents
#America
Mexico City was built on a lake
Buenos Aires dances in the street
Montreal has a city below the city
Chicago turned its river around
Lima sees rain almost never
#Africa
Nairobi has lions within its borders
Cairo is older than its pyramids look
Dakar reaches farthest into the Atlantic
Marrakesh is red in the evening
Cape Town lies below a flat mountain`,
  colours: `#red
red
rouge
rojo
rot
红色
#blue
blue
bleu
azul
blau
蓝色
#green
green
vert
verde
grün
绿色
#yellow
yellow
jaune
amarillo
gelb
黄色
#white
white
blanc
blanco
weiß
白色`,
  code: `#sorting
def quicksort(xs): return xs if len(xs) < 2 else sort_around(xs[0], xs[1:])
const sorted = items.toSorted((a, b) => a.price - b.price)
SELECT name FROM products ORDER BY price DESC
sort.Slice(users, func(i, j int) bool { return users[i].Age < users[j].Age })
#files
with open("data.csv") as file: rows = file.readlines()
const text = await readFile("notes.md", "utf8")
bytes, err := os.ReadFile("config.yaml")
cat access.log | grep 500 | wc -l
#network
response = requests.get(url, timeout=5)
const answer = await fetch(url, { method: "POST", body })
curl -X DELETE https://api.example.com/keys/7
conn, err := net.Dial("tcp", "example.com:443")
#errors
try: value = int(text) except ValueError: value = 0
if err != nil { return fmt.Errorf("reading: %w", err) }
throw new RangeError("the index is out of bounds")
raise KeyError(f"no such user: {name}")`,
}
