// mcs -r:System.Net.Http -r:System.Web.Extensions CompareCounts.cs && OLD_API=https://… mono CompareCounts.exe
using System;
using System.Collections.Generic;
using System.Net.Http;
using System.Web.Script.Serialization;

class CompareCounts
{
    static readonly HttpClient Client = new HttpClient();

    static int Main()
    {
        foreach (var name in new[] { "SecureURL=SECURE_URL", "PrivateKey=PRIVATE_KEY", "Token=TOKEN" })
        {
            var parts = name.Split('=');
            Client.DefaultRequestHeaders.Add(parts[0], Environment.GetEnvironmentVariable(parts[1]));
        }
        var isEqual = true;
        foreach (var service in new[] { "Products", "Orders", "Customers", "Category", "Manufacturers", "Distributors" })
        {
            var there = Count("OLD_API", service);
            var here = Count("API", service);
            Console.WriteLine(service + " " + there + " " + here + " " + (there == here ? "equal" : "DIFFERENT"));
            isEqual = isEqual && there == here;
        }
        return isEqual ? 0 : 1;
    }

    static int Count(string api, string service)
    {
        var address = Environment.GetEnvironmentVariable(api) + "/" + service + "?countonly=1";
        var answer = Client.GetAsync(address).Result;
        var text = answer.Content.ReadAsStringAsync().Result;
        if (!answer.IsSuccessStatusCode) throw new Exception(address + ": " + (int)answer.StatusCode + " " + text);
        return new JavaScriptSerializer().Deserialize<Dictionary<string, int>>(text)["TotalCount"];
    }
}
