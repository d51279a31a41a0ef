// Follows every link with so many requests a second at most, and so many at a time.
const { CheerioCrawler, Configuration } = require('@crawlee/cheerio')
const [rate, concurrency, start] = process.argv.slice(2)
const crawler = new CheerioCrawler({
  minConcurrency: +concurrency,
  maxConcurrency: +concurrency,
  maxRequestsPerMinute: 60 * rate,
  respectRobotsTxtFile: true,
  requestHandler: ({ enqueueLinks }) => enqueueLinks(),
}, new Configuration({ persistStorage: false, logLevel: 'ERROR' }))
crawler.run(start.split(','))
