// mcs -r:System.Net.Http -r:System.Web.Extensions FirstCall.cs && mono FirstCall.exe
using System;
using System.Collections.Generic;
using System.Net.Http;
using System.Web.Script.Serialization;

class FirstCall
{
    static int Main()
    {
        var client = new HttpClient();
        client.DefaultRequestHeaders.Add("SecureURL", Environment.GetEnvironmentVariable("SECURE_URL"));
        client.DefaultRequestHeaders.Add("PrivateKey", Environment.GetEnvironmentVariable("PRIVATE_KEY"));
        client.DefaultRequestHeaders.Add("Token", Environment.GetEnvironmentVariable("TOKEN"));
        var answer = client.GetAsync(Environment.GetEnvironmentVariable("API") + "/Products?limit=5").Result;
        var text = answer.Content.ReadAsStringAsync().Result;
        if (!answer.IsSuccessStatusCode)
        {
            Console.Error.WriteLine((int)answer.StatusCode + " " + text);
            return 1;
        }
        foreach (var product in new JavaScriptSerializer().Deserialize<List<Product>>(text))
        {
            Console.WriteLine(product.SKUInfo.SKU + " " + product.SKUInfo.Price + " " + product.SKUInfo.Stock);
        }
        return 0;
    }

    class Product
    {
        public Info SKUInfo { get; set; }
    }

    class Info
    {
        public string SKU { get; set; }
        public decimal Price { get; set; }
        public decimal Stock { get; set; }
    }
}
