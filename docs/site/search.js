// Search over kPages, rows of [address, page, heading, text]: sections that have every word, those with words in
// their headings first.
const field = document.getElementById("search"), list = document.getElementById("found");
const root = document.documentElement.dataset.root;
const kMostFound = 25, kExcerpt = 140;

const pages = kPages.map(([address, page, heading, text]) => ({
  address, page, heading, text, lower: text.toLowerCase(), lowerPage: page.toLowerCase(), lowerHeading: heading.toLowerCase()}));

// How often text has a word; words that begin with it count a little, for those who are still typing.
function count(text, word) {
  const begins = "(?<![\\p{L}\\p{N}])" + word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const times = pattern => (text.match(new RegExp(pattern, "gu")) || []).length;
  return times(begins + "(?![\\p{L}\\p{N}])") + times(begins) / 30;
}

// Nothing where a word is missing.
function rank(section, words) {
  let sum = 0;
  for (const word of words) {
    const named = Math.min(count(section.lowerHeading, word), 2), of = Math.min(count(section.lowerPage, word), 2);
    const within = count(section.lower, word);
    if (named + of + within === 0) return 0;
    sum += 15 * named + 5 * of + Math.min(within, 10) / Math.sqrt(1 + section.lower.length / 500);
  }
  return sum;
}

function excerpt(section, words) {
  const at = Math.max(0, section.lower.indexOf(words.find(w => section.lower.includes(w)) || "") - kExcerpt / 3);
  return (at > 0 ? "..." : "") + section.text.slice(at, at + kExcerpt) + "...";
}

function show() {
  const words = field.value.toLowerCase().split(/\s+/).filter(w => w);
  const found = words.length === 0 ? [] : pages.map(section => ({section, points: rank(section, words)}))
    .filter(f => f.points > 0).sort((a, b) => b.points - a.points).slice(0, kMostFound);
  list.replaceChildren(...found.map(({section}) => {
    const item = document.createElement("li"), link = document.createElement("a"), text = document.createElement("p");
    link.href = `${root}/${section.address}`;
    link.textContent = section.heading && section.heading !== section.page ? `${section.page}: ${section.heading}` : section.page;
    text.textContent = excerpt(section, words);
    item.append(link, text);
    return item;
  }));
  if (words.length > 0 && found.length === 0) list.textContent = "Nothing has all of these words.";
  list.hidden = words.length === 0;
}

field.addEventListener("input", show);
if (field.value) show();
