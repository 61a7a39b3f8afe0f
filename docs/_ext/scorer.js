// How the search of the manual ranks: Sphinx's own scores, and a fraction by the folder of a page, so that of two
// pages with equal scores a page of the guide comes before a note. tests/docs reads the numbers from here.
var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  fractions: {
    "guide/": 0.6,
    "coming_from/": 0.5,
    "lectures/": 0.4,
    "reference/": 0.3,
    "gallery/": 0.2,
    "glossary": -0.1
  },
  score: (result) => {
    const folder = Object.keys(Scorer.fractions).find((start) => result[0].startsWith(start));
    return result[4] + (folder === undefined ? 0 : Scorer.fractions[folder]);
  },
};
