// mcs -r:System.Net.Http -r:System.Web.Extensions StockSync.cs && mono StockSync.exe stock.csv, with lines such as LAMP-1;12, or LAMP-1;+3;delivery-4711-1 for three more
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Http;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading;
using System.Web.Script.Serialization;

class StockSync
{
    static readonly string Api = Environment.GetEnvironmentVariable("API");
    static readonly HttpClient Client = new HttpClient();
    static readonly JavaScriptSerializer Json = new JavaScriptSerializer { MaxJsonLength = int.MaxValue };

    class Info
    {
        public int CatalogID { get; set; }
        public string SKU { get; set; }
        public decimal Stock { get; set; }
    }

    class Product
    {
        public Info SKUInfo { get; set; }
    }

    static void Main(string[] args)
    {
        Client.DefaultRequestHeaders.Add("SecureURL", Environment.GetEnvironmentVariable("SECURE_URL"));
        Client.DefaultRequestHeaders.Add("PrivateKey", Environment.GetEnvironmentVariable("PRIVATE_KEY"));
        Client.DefaultRequestHeaders.Add("Token", Environment.GetEnvironmentVariable("TOKEN"));
        var products = ReadProducts();
        foreach (var line in File.ReadLines(args[0]).Where(each => each != ""))
        {
            var cells = line.Split(';');
            var sku = cells[0].Trim();
            var stock = decimal.Parse(cells[1], CultureInfo.InvariantCulture);
            if (!products.ContainsKey(sku)) Console.WriteLine(sku + " is not in the store");
            else if (cells[1][0] == '+' || cells[1][0] == '-') Console.WriteLine(sku + " " + AdjustStock(products[sku].CatalogID, (int)stock, cells[2]));
            else if (products[sku].Stock != stock) Console.WriteLine(sku + " " + SetStock(products[sku].CatalogID, stock));
        }
    }

    /// <summary>Sends a request until it has an answer that stays.</summary>
    static HttpResponseMessage Call(Func<HttpRequestMessage> request)
    {
        for (var tries = 1; tries <= 8; tries++)
        {
            var wait = TimeSpan.FromSeconds(tries);
            try
            {
                var answer = Client.SendAsync(request()).Result;
                var status = (int)answer.StatusCode;
                if (status != 429 && status < 500) return answer;
                if (answer.Headers.RetryAfter != null) wait = answer.Headers.RetryAfter.Delta ?? wait;
            }
            catch (AggregateException error)
            {
                Console.Error.WriteLine("no answer: " + error.InnerException.Message);
            }
            Thread.Sleep(wait);
        }
        throw new Exception("no answer after 8 tries");
    }

    static HttpResponseMessage Read(string address)
    {
        var answer = Call(() => new HttpRequestMessage(HttpMethod.Get, address));
        if (answer.IsSuccessStatusCode || answer.StatusCode == HttpStatusCode.NotFound) return answer;
        throw new Exception((int)answer.StatusCode + " " + answer.Content.ReadAsStringAsync().Result);
    }

    /// <summary>Returns the products by SKU, page by page.</summary>
    static Dictionary<string, Info> ReadProducts()
    {
        var products = new Dictionary<string, Info>();
        var next = Api + "/Products/skuinfo?limit=200";
        while (next != null)
        {
            var answer = Read(next);
            if (answer.StatusCode == HttpStatusCode.NotFound) break; // no product at all
            foreach (var info in Json.Deserialize<List<Info>>(answer.Content.ReadAsStringAsync().Result))
            {
                products[info.SKU] = info;
            }
            IEnumerable<string> links;
            var link = answer.Headers.TryGetValues("Link", out links) ? links.First() : "";
            var found = Regex.Match(link, "<([^>]+)>; rel=\"next\"");
            next = found.Success ? found.Groups[1].Value : null;
        }
        return products;
    }

    /// <summary>Adds to the stock that there is, or takes off. With the same key the store does it once, however often it is sent.</summary>
    static string AdjustStock(int id, int by, string key)
    {
        var body = Json.Serialize(new { SKUInfo = new { StockAdjust = by } });
        var answer = Call(() =>
        {
            var request = new HttpRequestMessage(HttpMethod.Put, Api + "/Products/" + id);
            request.Headers.Add("Idempotency-Key", key);
            request.Content = new StringContent(body, Encoding.UTF8, "application/json");
            return request;
        });
        return answer.IsSuccessStatusCode ? "adjusted by " + by : "was refused: " + (int)answer.StatusCode + " " + answer.Content.ReadAsStringAsync().Result;
    }

    /// <summary>Sets the stock, if it is another one. Reads again when somebody else was first.</summary>
    static string SetStock(int id, decimal stock)
    {
        var address = Api + "/Products/" + id;
        while (true)
        {
            var read = Read(address);
            if (read.StatusCode == HttpStatusCode.NotFound) return "was deleted";
            var before = Json.Deserialize<List<Product>>(read.Content.ReadAsStringAsync().Result)[0].SKUInfo.Stock;
            if (before == stock) return "unchanged";
            var key = Guid.NewGuid().ToString();
            var body = Json.Serialize(new { SKUInfo = new { Stock = stock } });
            var answer = Call(() =>
            {
                var request = new HttpRequestMessage(HttpMethod.Put, address);
                request.Headers.TryAddWithoutValidation("If-Match", read.Headers.ETag.Tag);
                request.Headers.Add("Idempotency-Key", key);
                request.Content = new StringContent(body, Encoding.UTF8, "application/json");
                return request;
            });
            if (answer.IsSuccessStatusCode) return before + " -> " + stock;
            if (answer.StatusCode != HttpStatusCode.PreconditionFailed)
            {
                return "was refused: " + (int)answer.StatusCode + " " + answer.Content.ReadAsStringAsync().Result;
            }
        }
    }
}
