import scrapy


class Spider(scrapy.Spider):
    """Follows every link, with a slot of its own for each host and port."""

    name = "peer"

    def ask(self, url):
        return scrapy.Request(url, meta={"download_slot": url.split("/")[2]})

    def start_requests(self):
        for url in self.start.split(","):
            yield self.ask(url)

    def parse(self, response):
        for href in response.css("a::attr(href)").getall():
            yield self.ask(response.urljoin(href))
