// mcs -r:System.Net.Http -r:System.Web.Extensions StockSync.cs && mono StockSync.exe stock.csv
// Lines are such as LAMP-1;12 (there are 12) or LAMP-1;+3;delivery-4711-2 (3 more, and the name of the change).
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

    static int Main(string[] args)
    {
        Client.DefaultRequestHeaders.Add("SecureURL", Environment.GetEnvironmentVariable("SECURE_URL"));
        Client.DefaultRequestHeaders.Add("PrivateKey", Environment.GetEnvironmentVariable("PRIVATE_KEY"));
        Client.DefaultRequestHeaders.Add("Token", Environment.GetEnvironmentVariable("TOKEN"));
        var products = ReadProducts();
        var isRefused = false;
        var number = 0;
        foreach (var line in File.ReadLines(args[0]))
        {
            number++;
            if (line.Trim() == "") continue;
            var cells = (line + ";;").Split(';').Select(cell => cell.Trim()).ToArray();
            try
            {
                var result = Apply(products, cells[0], cells[1], cells[2]);
                if (result != null) Console.WriteLine(cells[0] + " " + result);
            }
            catch (Refused error)
            {
                Console.Error.WriteLine("line " + number + ": " + cells[0] + " " + error.Message);
                isRefused = true;
            }
        }
        return isRefused ? 1 : 0;
    }

    class Refused : Exception
    {
        public Refused(string message) : base(message) { }

        public Refused(HttpResponseMessage answer)
            : base("was refused: " + (int)answer.StatusCode + " " + TextOf(answer)) { }
    }

    static string TextOf(HttpResponseMessage answer)
    {
        return answer.Content.ReadAsStringAsync().Result;
    }

    /// <summary>The code of a refusal; empty: it is none.</summary>
    static string CodeOf(HttpResponseMessage answer)
    {
        IEnumerable<string> codes;
        return answer.Headers.TryGetValues("X-Error-Code", out codes) ? codes.First() : "";
    }

    /// <summary>Does what a line says. Returns null where there is nothing to do.</summary>
    static string Apply(Dictionary<string, Info> products, string sku, string stock, string name)
    {
        Info product;
        if (!products.TryGetValue(sku, out product)) throw new Refused("is not in the store");
        if (Regex.IsMatch(stock, "^[+-][0-9]+$") && name != "") return AdjustStock(product.SKU, stock, name);
        if (!Regex.IsMatch(stock, @"^[0-9]+(\.[0-9]+)?$"))
        {
            throw new Refused("needs a number, or +n or -n and the name of the change");
        }
        var there = decimal.Parse(stock, CultureInfo.InvariantCulture);
        return product.Stock == there ? null : SetStock(product.CatalogID, there);
    }

    /// <summary>Sends a request until it has an answer that stays: the same bytes with the same key in each try.</summary>
    static HttpResponseMessage Call(Func<HttpRequestMessage> request)
    {
        for (var tries = 1; tries <= 8; tries++)
        {
            var wait = TimeSpan.FromSeconds(tries);
            try
            {
                var answer = Client.SendAsync(request()).Result;
                var status = (int)answer.StatusCode;
                var after = answer.Headers.RetryAfter;
                // in-progress: the first try with this key is still running.
                if (status != 429 && status < 500 && CodeOf(answer) != "in-progress") return answer;
                if (after != null) wait = after.Delta ?? wait;
            }
            catch (AggregateException error)
            {
                Console.Error.WriteLine("no answer: " + error.InnerException.Message);
            }
            Thread.Sleep(wait);
        }
        throw new Exception("no answer after 8 tries");
    }

    static HttpResponseMessage Put(string address, string key, string ifMatch, object change)
    {
        var body = Json.Serialize(change);
        return Call(() =>
        {
            var request = new HttpRequestMessage(HttpMethod.Put, address);
            if (ifMatch != null) request.Headers.TryAddWithoutValidation("If-Match", ifMatch);
            request.Headers.Add("Idempotency-Key", key);
            request.Content = new StringContent(body, Encoding.UTF8, "application/json");
            return request;
        });
    }

    /// <summary>Returns the products by SKU, in whatever case, page by page.</summary>
    static Dictionary<string, Info> ReadProducts()
    {
        var products = new Dictionary<string, Info>(StringComparer.OrdinalIgnoreCase);
        var next = Api + "/Products/skuinfo?limit=200";
        while (next != null)
        {
            var address = next;
            var answer = Call(() => new HttpRequestMessage(HttpMethod.Get, address));
            var text = TextOf(answer);
            if (CodeOf(answer) == "not-found") break; // no product at all
            if (!answer.IsSuccessStatusCode) throw new Exception(address + ": " + (int)answer.StatusCode + " " + text);
            foreach (var info in Json.Deserialize<List<Info>>(text)) products[info.SKU] = info;
            IEnumerable<string> links;
            var link = answer.Headers.TryGetValues("Link", out links) ? links.First() : "";
            var found = Regex.Match(link, "<([^>]+)>; rel=\"next\"");
            next = found.Success ? found.Groups[1].Value : null;
        }
        return products;
    }

    /// <summary>Sets the stock, if it is another one. Reads again, and takes a new key, when somebody else was first.</summary>
    static string SetStock(int id, decimal stock)
    {
        var address = Api + "/Products/" + id;
        for (var tries = 1; ; tries++)
        {
            var read = Call(() => new HttpRequestMessage(HttpMethod.Get, address));
            if (!read.IsSuccessStatusCode) throw new Refused(read);
            var before = Json.Deserialize<List<Product>>(TextOf(read))[0].SKUInfo.Stock;
            if (before == stock) return "unchanged";
            var change = new { SKUInfo = new { Stock = stock } };
            var answer = Put(address, Guid.NewGuid().ToString(), read.Headers.ETag.ToString(), change);
            if (answer.IsSuccessStatusCode) return before + " -> " + stock;
            if (CodeOf(answer) != "precondition-failed" || tries == 8) throw new Refused(answer);
        }
    }

    /// <summary>Adds to the stock as it is at that moment; with the same name again, within 24 hours, nothing more.</summary>
    static string AdjustStock(string sku, string added, string name)
    {
        var change = new[] { new { SKUInfo = new { SKU = sku, StockAdjust = int.Parse(added) } } };
        var answer = Put(Api + "/Products", name, null, change);
        if (answer.StatusCode != HttpStatusCode.OK) throw new Refused(answer);
        return "adjusted by " + int.Parse(added);
    }
}
